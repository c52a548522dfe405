/** Sets up the webhook chat service: its address, a check, a test message. */
import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import { isRefused, refusalOf, refusalText } from '../../dialogue/refusal.ts';
import {
  ATTEMPTS,
  type Prepared,
  type Situation,
  tryOut,
  withRetries,
} from '../../dialogue/situation.ts';
import type { Inspection, Problem } from '../../service/contract.ts';
import type { Reply } from '../../service/exchange.ts';
import { fieldsOf, wordOf } from '../../service/fields.ts';
import { connectDiscord } from './discord.ts';
import { type Webhook, webhookOf } from './webhook.ts';

const NOT_A_WEBHOOK =
  'that is not a webhook address: https://discord.com/api/webhooks/<number>/<token>';

/** Asks for the address and sends a test message; saves nothing. */
export async function setUpDiscord(situation: Situation): Promise<Prepared> {
  const { dialogue } = situation;
  dialogue?.title('Discord');
  for (;;) {
    const known = await knownWebhook(situation);
    if (!situation.test) return prepared(known, false);
    const { values } = prepared(known, false);
    const other =
      situation.inputs.webhook === undefined ? 'Enter another address' : 'Check the address again';
    const outcome = await tryOut(situation, 'discord', values, other);
    if (outcome !== 'other') return prepared(known, outcome !== 'save');
  }
}

interface KnownWebhook {
  readonly webhook: Webhook;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** An address that answers. Throws after ATTEMPTS, or when the given address is refused. */
async function knownWebhook(situation: Situation): Promise<KnownWebhook> {
  const { dialogue, inputs, note } = situation;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const given = inputs.webhook;
    const text = given ?? (await dialogue?.askSecret('Webhook address')) ?? '';
    const webhook = readAddress(text);
    if (webhook instanceof Failure) {
      if (given !== undefined) throw webhook;
      dialogue?.warn(webhook.message);
      continue;
    }
    if (webhook.foreignHost !== undefined)
      (dialogue ? dialogue.warn : note)(`${webhook.foreignHost} is not Discord's host`);
    const reply = await withRetries(situation, 'discord', () => lookAt(situation, webhook));
    if (!('problem' in reply)) {
      const { name, channel_id } = fieldsOf(reply.value.webhook);
      if (name) dialogue?.done(`The webhook is ${wordOf(name)}, in channel ${wordOf(channel_id)}`);
      return { webhook, facts: reply.value };
    }
    if (given !== undefined || !isRefused(reply.problem)) throw refusalOf('discord', reply.problem);
    dialogue?.warn(refusalText('discord', reply.problem));
  }
  throw new Failure(
    'delivery_failed',
    `no webhook address that works in ${ATTEMPTS} attempts, nothing was changed`,
  );
}

function readAddress(text: string): Webhook | Failure {
  try {
    return webhookOf(text, 'the webhook address') ?? new Failure('insecure_address', NOT_A_WEBHOOK);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function lookAt(
  situation: Situation,
  { address }: Webhook,
): Promise<Reply<Inspection['facts']>> {
  const discord = { webhook: new Secret(address) };
  const line = situation.line({ telegram: undefined, discord });
  const { facts, problem } = await connectDiscord(discord, line).inspect();
  if (!problem) return { value: facts, httpStatus: 200 };
  // A compatible service may accept messages only: then the test message decides.
  if (situation.test && isUnasked(problem)) return { value: {}, httpStatus: 200 };
  return { problem, answer: undefined };
}

/** The service does not support GET; Discord itself would send a code of its own. */
function isUnasked({ http_status: status, code }: Problem): boolean {
  return status === 405 || status === 501 || (status === 404 && code === 404);
}

function prepared({ webhook, facts }: KnownWebhook, tested: boolean): Prepared {
  return { values: { discord_webhook: webhook.address }, facts, tested };
}
