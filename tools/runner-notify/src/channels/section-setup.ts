/** Sets up a channel that has a section of config.yml: each key asked for or given, then tried out. */
import { type SectionName, sectionProblem } from '@runner/common/config/channels';
import { Failure } from '@runner/common/foundation/failure';
import { refusalOf } from '../dialogue/refusal.ts';
import {
  ATTEMPTS,
  acceptedAnswer,
  type SetUp,
  type Situation,
  tested,
  withRetries,
} from '../dialogue/situation.ts';
import type { Channel, ChatService, ConfigValues, SetupAnswer } from '../service/contract.ts';
import { ANSWERS } from './options.ts';

type Question = SetupAnswer & { readonly key: string };

/** Asks for the keys, checks with the service what can be checked without a message, and sends one. */
export function setUpSection(name: SectionName, service: ChatService): SetUp {
  const questions = Object.entries(ANSWERS[name]).filter(
    (each): each is [string, Question] => each[1].key !== undefined,
  );
  return async (situation) => {
    const { dialogue, inputs } = situation;
    dialogue?.title(service.title);
    const given = questions.every(
      ([option, { optional }]) => optional || inputs.answers[option] !== undefined,
    );
    const choose = async () => {
      const values: Record<string, ConfigValues[string]> = {};
      for (const [option, question] of questions) {
        const answer = await answerTo(situation, name, question, inputs.answers[option]);
        values[`${name}.${question.key}`] = answer;
      }
      const connection = situation.draft(values).connect(name) as Channel;
      const reply = await withRetries(situation, name, async () => {
        const { problem } = await connection.inspect();
        return problem ? { problem } : { value: {} };
      });
      if ('problem' in reply && !dialogue) throw refusalOf(name, reply.problem);
      if ('problem' in reply) dialogue?.warn(reply.problem.description);
      return () => ({ values, facts: {} });
    };
    return tested(situation, { channel: name, what: service.secret, given, choose });
  };
}

/** A valid answer: the given one, or what the person types. An optional one may be empty. */
async function answerTo(
  situation: Situation,
  name: SectionName,
  answer: Question,
  given: string | undefined,
): Promise<ConfigValues[string]> {
  const { key, optional } = answer;
  const question = questionOf(answer);
  const { value } = await acceptedAnswer(situation, name, {
    given,
    ask: (dialogue) => (answer.variable ? dialogue.askSecret(question) : dialogue.ask(question)),
    read: (text) => {
      if (text === '' && optional) return { text: undefined };
      return (
        sectionProblem(name, key, text) ?? { text: key === 'to' ? text.split(/\s*,\s*/) : text }
      );
    },
    check: async () => ({ value: undefined }),
    failure: new Failure(
      'delivery_failed',
      `no valid answer in ${ATTEMPTS} attempts, nothing was changed`,
    ),
  });
  return value.text;
}

function questionOf({ what, form = '', optional }: SetupAnswer): string {
  const name = what.replace(/^the (.)/, (_, first: string) => first.toUpperCase());
  return `${name}${form}${optional ? ', or empty' : ''}`;
}
