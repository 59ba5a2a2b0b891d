// The site's search runs in a Worker, which browsers refuse to a page that was opened as a file: there, the worker's
// script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inner.document.createElement("script");
      script.src = url;
      this.loaded = new Promise((resolve) => script.addEventListener("load", () => resolve(inner)));
      inner.document.body.append(script);
    }

    postMessage(data) {
      this.loaded.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}

// A word such as --transfer is an option here, and not one that results must not have.
const post = window.Worker.prototype.postMessage;
window.Worker.prototype.postMessage = function (message) {
  const isQuery = typeof message?.data === "string";
  post.call(this, isQuery ? { ...message, data: message.data.replace(/(^|\s)-+/g, "$1") } : message);
};
