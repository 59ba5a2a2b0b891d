"""Debian's Chromium, driven by Selenium."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a screen; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs Selenium")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--window-size=1300,900", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:  # whose processes Chromium can't confine
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(120)
    try:
        yield started
    finally:
        started.quit()


def requested(browser: Any) -> set[str]:
    """The addresses that pages asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}


def part(browser: Any, name: str) -> Any:
    """The element of a page with an ID."""
    return browser.find_element("id", name)


def until(browser: Any, condition: str) -> None:
    """Wait until an expression in JavaScript is true."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 120, poll_frequency=0.05).until(lambda one: one.execute_script(f"return {condition}"))
