/** The contract of what comes before the first deploy. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { APPS, call, type Entry, OUTPUT } from './entry.ts';

/** A repository of one page; `files` are further ones. */
function siteFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder('site');
  for (const [name, text] of Object.entries({ 'index.html': '<h1>Hello</h1>', ...files }))
    writeFileSync(join(folder, name), text);
  return folder;
}

export const START: readonly Entry[] = [
  {
    command: 'init',
    calls: [
      { args: () => [siteFolder(), '--no-prove'] },
      { args: () => [siteFolder(), '--json'] },
      { args: () => [siteFolder(), '--yes'] },
    ],
    wrong: [
      ['app_not_found', call('--app', 'nope')],
      ['file_unreadable', call('/nonexistent')],
      [
        'force_needed',
        { args: () => [siteFolder({ '.deploy.yml': 'build: make\n' }), '--no-prove'] },
      ],
      ['usage', call('.', '--app', 'shop')],
    ],
    refusals: OUTPUT,
  },
  {
    command: 'setup',
    calls: [
      {
        args: ['shop', '--deploy-file', '-', '--print'],
        stdin: () => 'start: { type: process, run: exec node server.js }\n',
      },
      call('shop', '--deploy-file', '/dev/null', '--print', '--json'),
      call('shop', '--facts', '--deploy-file', '/dev/null'),
    ],
    wrong: [
      ['app_not_found', call('nope', '--print')],
      ['name_invalid', call('../shop', '--print')],
      ['usage', call('shop', '--cert', '/x', '--print')],
      ['file_unreadable', call('shop', '--deploy-file', '/nonexistent', '--print')],
    ],
    refusals: APPS,
  },
  {
    command: 'import',
    calls: [
      { ...call('procfile', '-'), stdin: () => 'web: node server.js\n' },
      { ...call('unit', '-', '--json'), stdin: () => '[Service]\nExecStart=/usr/bin/node x\n' },
    ],
    withoutInput: 1,
    wrong: [
      ['not_imported', { ...call('pm2', '-'), stdin: () => 'module.exports = {' }],
      ['file_unreadable', call('compose', '/nonexistent')],
      ['usage', call('jenkins', '-')],
    ],
    refusals: OUTPUT,
  },
];
