import sys
sys.path[:] = filter(None, sys.path)
del sys.argv[0]
exec(compile(sys.argv.pop(1), sys.argv[0], "exec", dont_inherit=True))
