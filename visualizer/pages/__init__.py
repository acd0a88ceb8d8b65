"""What can take the stage: one page a file. Pages know no panel and not each other."""
