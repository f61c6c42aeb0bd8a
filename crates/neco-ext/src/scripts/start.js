{
    const { Module } = require("module"), { dirname, isAbsolute } = require("path"), { compileFunction } = require("vm");
    const text = process.argv.splice(2, 1)[0].replace(/^#!.*/, ""), called = process.argv[1];
    const isScript = () => {
        try {
            return compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"]);
        } catch {
            return false;
        }
    };
    delete globalThis.require;
    if (called.endsWith(".mjs") || !isScript()) {
        import("data:text/javascript," + encodeURIComponent(`${text}\n//# sourceURL=${called}`));
    } else {
        const script = new Module(called, null);
        script.filename = isAbsolute(called) ? called : `/${called}`;
        script.paths = isAbsolute(called) ? Module._nodeModulePaths(dirname(called)) : [];
        process.mainModule = script;
        script._compile(text, script.filename);
    }
}
