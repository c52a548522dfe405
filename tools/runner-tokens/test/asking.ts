/** `tokens test shop` against a stand-in of the code host. */
import { type CodeHostServer, startCodeHost } from '@runner/testing/code-host';
import type { Fault } from '@runner/testing/faults';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { configure, fingerprint, rootWith, TOKEN } from './root.ts';

export const PRINT = fingerprint(TOKEN);

export interface Asking {
  readonly host: CodeHostServer;
  /** With the apps `shop`, whose token the host knows as octo's, and `pub`, which has none. */
  readonly root: string;
  /** Runs `tokens test shop`, and looks for the token in what it says. */
  ask(args?: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Asks while the host has this fault: status 1, the sentence, and the JSON beside it. */
  refused(fault: Fault, code: string, message: string, more?: object): Promise<void>;
}

export async function startAsking(): Promise<Asking> {
  const root = await rootWith({ shop: TOKEN, pub: null });
  const host = await startCodeHost({
    tokens: { [TOKEN]: { login: 'octo', scopes: ['repo', 'read:org'] } },
  });
  configure(root, `code_host_api_url: ${host.apiUrl}\n`);
  const ask: Asking['ask'] = async (args = [], options = {}) => {
    const ended = await run('runner-tokens', ['test', 'shop', ...args], { root, ...options });
    assert.equal(findSecret(ended.stdout + ended.stderr, TOKEN), []);
    return ended;
  };
  return {
    host,
    root,
    ask,
    async refused(fault, code, message, more = {}) {
      host.fail(fault, 2);
      const [human, json] = await Promise.all([ask(), ask(['--json'])]);
      const answer = code === 'token_invalid' ? invalidText(JSON.parse(json.stdout)) : '';
      assert.equal(
        [human.status, human.stdout, human.stderr],
        [1, answer, `runner tokens test: ${message} (${code})\n`],
      );
      assert.equal([json.status, json.stderr], [1, human.stderr]);
      assert.equal(JSON.parse(json.stdout), { ...more, error: code, message });
      host.heal();
    },
  };
}

/** What is printed for people when the host refuses the token. */
const invalidText = ({ http_status: status }: { http_status: number }) =>
  `Token INVALID for shop:\n  fingerprint:  ${PRINT}\n  http_status:  ${status}\n  error:        token_invalid\n`;

/** What `--json` adds to code and message when the host refuses the token. */
export const invalid = (status: number) => ({
  valid: false,
  app: 'shop',
  fingerprint: PRINT,
  http_status: status,
});
