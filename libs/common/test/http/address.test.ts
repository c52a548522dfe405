import { httpAddress } from '@runner/common/http/address';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

test('https is taken, and http to this machine alone; slashes at the end are dropped', () => {
  for (const [text, address] of [
    ['https://api.github.com', 'https://api.github.com'],
    ['https://api.github.com/', 'https://api.github.com'],
    ['https://host.example/api/v3///', 'https://host.example/api/v3'],
    ['https://host.example:8443/x', 'https://host.example:8443/x'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://host.example/a?b=c', 'https://host.example/a?b=c'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://127.1.2.3', 'http://127.1.2.3'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['http://app.localhost', 'http://app.localhost'],
    ['HTTP://LOCALHOST', 'http://localhost'],
    ['http://0x7f.1', 'http://127.0.0.1'],
    [' https://host.example ', 'https://host.example'],
  ]) {
    assert.is(httpAddress(text as string, 'x'), address);
  }
});

test('any other address is refused with its source and without repeating it', () => {
  const no = 'is not an https address';
  const insecure = 'must be https: a secret is sent there (http is only allowed for localhost)';
  const user = 'must not contain a user name or password';
  for (const [text, why] of [
    ['', no],
    ['host.example', no],
    ['//host.example', no],
    ['ftp://host.example', no],
    ['ssh://git@host.example', no],
    ['file:///etc/passwd', no],
    ['javascript:alert(1)', no],
    ['https://', no],
    ['https://host.example:99999', no],
    ['http://host.example', insecure],
    ['http://127.0.0.1.example', insecure],
    ['http://localhost.example', insecure],
    ['http://notlocalhost', insecure],
    ['http://128.0.0.1', insecure],
    ['http://10.0.0.1', insecure],
    ['http://0.0.0.0', insecure],
    ['http://[::]', insecure],
    ['http://[::ffff:127.0.0.1]', insecure],
    ['https://user@host.example', user],
    ['https://user:secret@host.example', user],
    ['https://:secret@host.example', user],
    ['http://127.0.0.1@host.example', user],
  ]) {
    assert.is(
      told(() => httpAddress(text as string, 'config.yml: key')),
      `insecure_address: config.yml: key ${why}`,
      text,
    );
  }
});

test.run();
