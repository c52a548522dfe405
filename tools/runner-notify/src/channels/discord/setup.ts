/** Sets up the webhook chat service: its address, a check, a test message. */
import { Failure } from '@runner/common/foundation/failure';
import {
  ATTEMPTS,
  acceptedAnswer,
  type Prepared,
  type Situation,
  tested,
} from '../../dialogue/situation.ts';
import type { Channel, Inspection, ServiceProblem } from '../../service/contract.ts';
import type { Reply } from '../../service/exchange.ts';
import { fieldsOf, wordOf } from '../../service/fields.ts';
import { foreignWords, type Webhook, webhookOf } from './webhook.ts';

const NOT_A_WEBHOOK =
  'that is not a webhook address: https://discord.com/api/webhooks/<number>/<token>';

/** Asks for the address and sends a test message; saves nothing. */
export async function setUpDiscord(situation: Situation): Promise<Prepared> {
  const { dialogue, inputs } = situation;
  const given = inputs.answers['webhook-file'];
  dialogue?.title('Discord');
  const choose = async () => {
    const { value, answer: facts } = await acceptedAnswer(situation, 'discord', {
      given,
      ask: (asked) => asked.askSecret('Webhook address'),
      read: (text) => readAddress(situation, text),
      check: (webhook) => lookAt(situation, webhook),
      failure: new Failure(
        'delivery_failed',
        `no working webhook address in ${ATTEMPTS} attempts, nothing was changed`,
      ),
    });
    const { name, channel_id } = fieldsOf(facts.webhook);
    if (name) dialogue?.done(`The webhook is ${wordOf(name)}, in channel ${wordOf(channel_id)}`);
    return () => ({ values: { discord_webhook: value.address }, facts });
  };
  return tested(situation, {
    channel: 'discord',
    what: 'address',
    given: given !== undefined,
    choose,
  });
}

function readAddress({ dialogue, note }: Situation, text: string): Webhook | Failure {
  try {
    const webhook = webhookOf(text, 'the webhook address');
    if (!webhook) return new Failure('insecure_address', NOT_A_WEBHOOK);
    const host = webhook.foreignHost;
    if (host !== undefined) (dialogue ? dialogue.warn : note)(foreignWords(host));
    return webhook;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function lookAt(
  situation: Situation,
  { address }: Webhook,
): Promise<Reply<Inspection['facts']>> {
  const connection = situation.draft({ discord_webhook: address }).connect('discord') as Channel;
  const { facts, problem } = await connection.inspect();
  if (!problem) return { value: facts };
  // A compatible service may accept messages only: then the test message decides.
  if (situation.test && isUnasked(problem)) return { value: {} };
  return { problem };
}

/** The service does not support GET; Discord itself would send a code of its own. */
function isUnasked({ http_status: status, code }: ServiceProblem): boolean {
  return status === 405 || status === 501 || (status === 404 && code === 404);
}
