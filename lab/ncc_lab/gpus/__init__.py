"""Trains and evaluates predictions of GPU kernel launches, against controls."""
