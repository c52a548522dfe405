import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** The launcher for a root of daemon: what it starts prints `owner` or `root`. */
function launcher(): string {
  const folder = temporaryFolder('launch');
  const put = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  };
  const text = readFileSync('packaging/launch', 'utf8');
  put('launch', text.replaceAll('@LIBDIR@', folder));
  put('bin/runner', '#!/bin/sh\necho root\n');
  put('relay', '#!/bin/sh\necho owner\n');
  put('path/stat', '#!/bin/sh\necho daemon\n');
  put('path/setpriv', '#!/bin/sh\necho owner\n');
  symlinkSync('launch', join(folder, 'runner'));
  return folder;
}

const whenRoot = process.getuid?.() === 0 ? test : test.skip;

whenRoot('root acts as the owner of the root, unless it names the root itself', async () => {
  const folder = launcher();
  const typed = async (line: string) => {
    const script = `unset RUNNER_ROOT; PATH=${folder}/path:$PATH ${folder}/runner ${line}`;
    return (await shell(script)).stdout.trim();
  };
  assert.is(await typed('exec shop'), 'owner');
  assert.is(await typed('exec shop --root /opt/runner'), 'root');
  assert.is(await typed('exec shop --root=/opt/runner -- true'), 'root');
  assert.is(await typed('exec shop -- rake --root /srv'), 'owner', 'of the command that it runs');
});

test.run();
