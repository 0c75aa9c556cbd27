"""Knowledge and the harvest as text and values, pure: items, their wording, what a model may say, what a person chose."""
