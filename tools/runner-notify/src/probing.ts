/** Which channels can be asked, and the lines to ask them on. */

import type { ChannelName } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import { redactor } from '@runner/common/secrets/secret';
import type { Probe } from './channels/probe.ts';
import { PROBES } from './channels/probes.ts';
import type { Wire } from './channels/reply.ts';
import type { Credentials } from './channels/service.ts';
import { secretsOf } from './credentials.ts';

/** What is told goes through a redactor that knows the credentials; `signal` ends exchanges. */
export function wireOf(credentials: Credentials, env: Io['env'], signal?: AbortSignal): Wire {
  return { env, redact: redactor(secretsOf(credentials)), ...(signal && { signal }) };
}

/** A probe of a channel whose credentials are set; undefined for another. */
export function probeOf(
  name: ChannelName,
  credentials: Credentials,
  env: Io['env'],
  signal?: AbortSignal,
): Probe | undefined {
  return PROBES[name](credentials, wireOf(credentials, env, signal));
}
