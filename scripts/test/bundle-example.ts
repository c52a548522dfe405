/** A small house with what is hard to bundle: classes that several lazy parts must share. */
export const example: Record<string, string> = {
  'package.json': '{"name":"example","version":"9.8.7","type":"module"}',
  'libs/common/package.json':
    '{"name":"@runner/common","type":"module","exports":{"./*":"./src/*.ts"}}',
  'libs/common/src/failure.ts': `
    export class Failure extends Error {}
    export const name = 'failure';
    export function loads(what: string) { console.log('load', what); }`,
  'libs/common/src/command.ts': "export { default as mri } from 'mri';",
  'libs/common/src/help.ts': `
    import { loads, name } from './failure.ts';
    loads('help');
    export const help = 'help with ' + name;`,
  'libs/common/src/config.ts': `
    import { parse } from 'yaml';
    import { Failure, loads } from './failure.ts';
    loads('config');
    export function read(text: string): unknown {
      if (text === 'bad') throw new Failure('bad config');
      return parse(text);
    }`,
  'libs/common/src/wire.ts': `
    import { loads } from './failure.ts';
    loads('wire');
    export const run = 'wired';`,
  'libs/common/src/http.ts': `
    import { request } from 'undici';
    import { loads } from './failure.ts';
    import { run } from './wire.ts';
    loads('http ' + run);
    export const kind = typeof request;`,
  'tools/runner-a/src/main.ts': `
    import { mri } from '@runner/common/cli/command';
    import { Failure } from '@runner/common/foundation/failure';
    import { help } from '@runner/common/cli/help';
    import { name } from './name.ts';
    declare const __VERSION__: string;
    const commands: Record<string, () => Promise<{ run(text: string): unknown }>> = {
      list: () => import('./commands/list.ts'),
      test: () => import('./commands/test.ts'),
      swift: async () => ({ run: () => 'not quick' }),
      config: async () => ({ run: (await import('@runner/common/config/file')).read }),
    };
    const [verb, text] = mri(process.argv.slice(2))._;
    if (verb === undefined) console.log(name, __VERSION__, help);
    else if (verb === 'help') {
      import('@runner/common/cli/help').then((again) => console.log(again.help === help, Object.keys(again)));
    } else {
      commands[verb]!()
        .then(async ({ run }) => console.log(await run(text ?? 'a: 1')))
        .catch((error) => console.log(error instanceof Failure, error.message));
    }`,
  'tools/runner-a/src/quick/swift.ts': `
    import { name } from '../name.ts';
    console.log(name, 'swift', process.argv.slice(3));
    if (process.argv[3] === 'far') import('@runner/common/wire').then(({ run }) => console.log(run));`,
  'tools/runner-a/src/name.ts': "export const name = 'runner-a';",
  'tools/runner-a/src/commands/list.ts': `
    import { read } from '@runner/common/config/file';
    import { name } from '../name.ts';
    export const run = (text: string) => [name, read(text)];`,
  'tools/runner-a/src/commands/test.ts': `
    import { read } from '@runner/common/config/file';
    import { name } from '@runner/common/foundation/failure';
    import { run as wire } from '@runner/common/wire';
    export const run = async (text: string) => {
      const { kind } = await import('@runner/common/http/request');
      return [name, kind, wire, read(text)];
    };`,
  'tools/runner/src/runner': '#!/bin/sh\necho "runner @VERSION@"\n',
  'libs/deploy/src/askpass.sh': '#!/bin/sh\necho asked\n',
  'libs/common/test/config.test.ts': `
    import { read } from '../src/config.ts';
    console.log(read('b: 2'));`,
};
