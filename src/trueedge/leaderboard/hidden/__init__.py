"""Hidden tasks: labels that only a judge knows, answers on a ladder, and certificates at the season's end."""
