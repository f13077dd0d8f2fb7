"""Translators: a model with its weights, its card and its glossary, for people who want their text translated.

translator = hf.Translator("translator")          # a folder, or the file that hopefear pack made of it
translator("Ein Mann geht über die Straße.")
"""
