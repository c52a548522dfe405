/** Whether there is a newer package, where `updates` of config.yml says where to look. */

import { type Config, readConfig } from '@runner/common/config/file';
import { placeOf, sectionOf } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { httpAddress } from '@runner/common/http/address';
import { send } from '@runner/common/http/request';
import { harmlessLine } from '@runner/common/text/harmless';
import { jsonObject } from '@runner/common/text/json';
import { cutCodePoints } from '@runner/common/text/plain';
import { type Findings, ok } from '../foundation/finding.ts';

declare const __VERSION__: string;

/** For the whole answer, in milliseconds and bytes. */
const PATIENCE = 5_000;
const ANSWER_MAX = 1_048_576;
/** Longest text of the answer that is shown, in code points. */
const SHOWN_MAX = 200;

/** Where to look; undefined: nowhere. Throws `config_invalid`. */
export function updatesUrl(config: Config): string | undefined {
  const given = sectionOf(config, 'updates').get('url');
  return given === undefined
    ? undefined
    : httpAddress(String(given), placeOf(config, ['updates', 'url']));
}

/** Never a problem: a server must not depend on the source. */
export async function updates({ io, paths }: Server): Promise<Findings> {
  try {
    const url = updatesUrl(readConfig(paths));
    if (url === undefined) return ok('no source of newer packages is configured');
    const limits = { timeout: PATIENCE, limit: ANSWER_MAX, env: io.env };
    const headers = { accept: 'application/json', 'user-agent': 'runner' };
    const { status, body } = await send({ method: 'GET', url, headers, ...limits });
    const answer = status === 200 ? jsonObject(body) : undefined;
    const text = (value: unknown) =>
      typeof value === 'string' ? cutCodePoints(harmlessLine(value), SHOWN_MAX) : '';
    const newest = text(answer?.version ?? answer?.tag_name).replace(/^v/, '');
    if (newest === '') return ok(`no version of a package was found (HTTP status ${status})`);
    if (!isNewer(newest, __VERSION__)) return ok(`${__VERSION__} is the newest package`);
    const page = text(answer?.html_url ?? answer?.url);
    const message = `runner ${newest} is there, this is ${__VERSION__}${page && `: ${page}`}`;
    return [{ level: 'warning', message, fix: null }];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return ok(`no newer package is known: ${error.message}`);
  }
}

/** Numbers between dots; a version with a word behind `-` is before the one without. */
function isNewer(one: string, other: string): boolean {
  const parts = (version: string) => {
    const [numbers = '', word] = version.split('-', 2);
    const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
    return [major, minor, patch, word === undefined ? 1 : 0];
  };
  const [a, b] = [parts(one), parts(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at !== -1 && (a[at] as number) > (b[at] ?? 0);
}
