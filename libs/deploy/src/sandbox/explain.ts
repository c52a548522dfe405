/** Whether the failure of a command looks like the sandbox's doing, and the line that changes it. */
import type { Confined } from './mounts.ts';

const SUDO =
  /sudo: .*no new privileges|sudo: effective uid is not 0|su: (?:cannot set|must be run)/i;
const DOCKER = /docker\.sock|Cannot connect to the Docker daemon/i;
const NO_PROCESS = /kill: .*No such process/i;
const READ_ONLY = /^.*(?:EROFS|Read-only file system).*$/im;
const DENIED = /^.*(?:EACCES|ENOENT|Permission denied|No such file or directory).*$/gim;
/** An absolute path, whole if it is quoted, not part of an address. */
const PATH = /'(\/[^']+)'|"(\/[^"]+)"|‘(\/[^’]+)’|(?:^|[\s'"`(=:‘])(\/[\w@%+~./-]*[\w@%+~/-])/g;

/**
 * `it may be the sandbox: /srv/www is read-only; config.yml: sandbox: { allow: { shop: [/srv/www] } }`;
 * undefined if nothing points to it.
 */
export function explanation(output: string, confined: Confined): string | undefined {
  const off = `sandbox: { apps: { ${confined.app}: off } }`;
  const allow = (path: string) => `sandbox: { allow: { ${confined.app}: [${path}] } }`;
  const say = (what: string, line: string) =>
    `this looks like an effect of the sandbox: ${what}; to change that, in config.yml: ${line}`;
  if (SUDO.test(output)) return say('it allows no sudo', off);
  if (DOCKER.test(output)) return say('it hides the docker socket', allow('/run/docker.sock'));
  if (NO_PROCESS.test(output)) return say("it hides the server's processes", off);
  const readOnly = READ_ONLY.exec(output)?.[0];
  if (readOnly !== undefined) {
    const path = pathsIn(readOnly)[0];
    return path === undefined
      ? say('the file system is read-only', off)
      : say(`${path} is read-only`, allow(path));
  }
  const hidden = [...output.matchAll(DENIED)]
    .flatMap(([line]) => pathsIn(line))
    .find((path) => isHidden(path, confined));
  return hidden === undefined ? undefined : say(`${hidden} is hidden`, allow(hidden));
}

function pathsIn(line: string): string[] {
  return [...line.matchAll(PATH)].map(([, ...quoted]) => quoted.find(Boolean) as string);
}

/** Whether a path is one that the sandbox hides: of the root but not of the app, or below /run. */
function isHidden(path: string, { paths, app, env }: Confined): boolean {
  const own = ['releases', 'instances', 'home'].map((name) => `${paths.app(app).dir}/${name}`);
  if (own.some((each) => path.startsWith(each))) return false;
  return [paths.root, env.HOME, '/run', '/var/run'].some(
    (each) => each !== undefined && each !== '/' && path.startsWith(`${each}/`),
  );
}
