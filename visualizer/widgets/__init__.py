"""Drawing only: painted widgets that get pictures and plain values, and tell what the user did."""
