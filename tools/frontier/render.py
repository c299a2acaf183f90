def render(results, docs): pass
