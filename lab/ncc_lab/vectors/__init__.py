"""The vocabulary that another project publishes, as an embedding."""
