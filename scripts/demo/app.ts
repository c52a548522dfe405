/** The app of the story: a small real HTTP server with a build that prints a lot. */
import { appFiles } from '@runner/testing/app';

/** A build as talkative as real ones; `broken` makes it end as a compiler does. */
function build(broken: boolean): string {
  const failure = `
console.error('src/checkout.ts:42:17 - error TS2339: Property \\'total\\' does not exist on type \\'Cart\\'.');
console.error('');
console.error('42   return cart.total * rate;');
console.error('                 ~~~~~');
console.error('Found 1 error in src/checkout.ts:42');
process.exitCode = 2;
`;
  return `for (const name of ['cart', 'checkout', 'orders', 'users'])
  for (let part = 1; part <= 6; part += 1) console.log('compiled src/' + name + '/part-' + part + '.ts in ' + (part * 7) + ' ms');
${broken ? failure : "console.log('done: 24 files');\n"}`;
}

export function versionFiles(
  version: string,
  port: number,
  fault: 'none' | 'build' | 'health',
): Record<string, string> {
  // What never becomes healthy is soon given up; what does has the time of a busy machine.
  const within = fault === 'health' ? '1s' : '60s';
  return {
    ...appFiles(version, fault === 'health' ? { health: 503 } : {}),
    'build.js': build(fault === 'build'),
    '.deploy.yml': `instances: { default: { domain: shop.example.org, env: { PORT: "${port}" } } }
build: node build.js
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/health", interval: 200ms, within: ${within} }
notify: {}
`,
  };
}
