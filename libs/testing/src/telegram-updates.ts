/** The queue of updates of a bot, and `getUpdates` with its rules. */
import { TelegramRefusal } from './telegram-chats.ts';

/** What the bot has not seen yet. */
export interface Updates {
  /** Puts an update in the queue, such as `{ message: {…} }`, unless its kind is not wanted. */
  push(update: Readonly<Record<string, unknown>>): void;
  /** Answers `getUpdates`; `gone` resolves when the caller has left. */
  get(parameters: Readonly<Record<string, unknown>>, gone: Promise<void>): Promise<unknown[]>;
  pending(): number;
}

/** Why `getUpdates` is refused. */
export interface Conflicts {
  /** A webhook is set: its address. */
  webhook: string;
  /** Another program polls with the same token all the time. */
  otherPoller: boolean;
}

/** Kinds that are only sent when they are asked for. */
const ON_DEMAND = ['chat_member', 'message_reaction', 'message_reaction_count'];

const MAX_TIMEOUT = 50;
const TERMINATED =
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
const WEBHOOK =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

function integer(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : otherwise;
}

/** A queue without updates. The platform's rules for hasty polling are left out. */
export function updates(conflicts: Conflicts): Updates {
  let queue: { readonly update_id: number; readonly [kind: string]: unknown }[] = [];
  let nextId = 100_000_001;
  let allowed: readonly unknown[] = [];
  let wake: (() => void) | undefined;
  let interrupt: (() => void) | undefined;

  /** Forgets what is confirmed; a negative offset keeps that many of the newest. */
  const confirm = (offset: number) => {
    if (offset < 0) queue = queue.slice(offset);
    else queue = queue.filter(({ update_id }) => update_id >= offset);
  };

  return {
    pending: () => queue.length,
    push(update) {
      const [kind = ''] = Object.keys(update);
      const wanted = allowed.length === 0 ? !ON_DEMAND.includes(kind) : allowed.includes(kind);
      if (!wanted) return;
      queue.push({ update_id: nextId, ...update });
      nextId += 1;
      wake?.();
    },
    async get(parameters, gone) {
      if (conflicts.webhook !== '') throw new TelegramRefusal(409, WEBHOOK);
      interrupt?.();
      if (conflicts.otherPoller) throw new TelegramRefusal(409, TERMINATED);
      // Without the field, the setting of an earlier call stays.
      if (Array.isArray(parameters.allowed_updates)) allowed = parameters.allowed_updates;
      const offset = integer(parameters.offset, 0);
      if (offset !== 0) confirm(offset);
      const limit = Math.min(100, Math.max(1, integer(parameters.limit, 100)));
      const timeout = Math.min(MAX_TIMEOUT, Math.max(0, integer(parameters.timeout, 0)));
      if (queue.length === 0 && timeout > 0) {
        let timer: NodeJS.Timeout | undefined;
        const reason = await Promise.race([
          new Promise<'update'>((resolve) => {
            wake = () => resolve('update');
          }),
          new Promise<'interrupted'>((resolve) => {
            interrupt = () => resolve('interrupted');
          }),
          new Promise<'late'>((resolve) => {
            timer = setTimeout(() => resolve('late'), timeout * 1000);
          }),
          gone,
        ]);
        clearTimeout(timer);
        if (reason === 'interrupted') throw new TelegramRefusal(409, TERMINATED);
        interrupt = undefined;
      }
      return queue.slice(0, limit);
    },
  };
}
