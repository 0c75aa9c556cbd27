"""Servers of the Model Context Protocol whose tools a model is given: started, approved, called."""
