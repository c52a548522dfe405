// Entry of every `npm run` task. It stays readable for very old versions of Node, so that they
// get a sentence instead of a syntax error: nothing newer than dynamic import in this file.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 18)) {
  console.error(`runner: needs Node 20.18 or later, this is ${process.version}`);
  process.exitCode = 1;
} else {
  import('./tasks/main.mjs')
    .then(({ runTask }) => runTask(process.argv[2], process.argv.slice(3)))
    .then((status) => {
      process.exitCode = status;
    });
}
