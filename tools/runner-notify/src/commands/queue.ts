import { command } from '@runner/common/cli/command';
import { fields, type Style, table } from '@runner/common/cli/output';
import { EXIT, notProvided, usage } from '@runner/common/foundation/failure';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { counted } from '@runner/common/text/words';
import { problemText } from '../service/problem-text.ts';
import {
  damagedOf,
  findAll,
  findThese,
  retry,
  type WaitingMessage,
  waitingOf,
} from '../spool/listing.ts';
import { Spool, type SpoolPlace } from '../spool/spool.ts';

const ACTIONS = ['list', 'show', 'retry', 'drop'] as const;
type Action = (typeof ACTIONS)[number];

/** What `runner notify queue --json` prints. */
interface Shown {
  readonly action: Action;
  readonly messages: readonly WaitingMessage[];
}

export const queue = command({
  name: 'queue',
  needsRoot: true,
  about: 'Manage queued and given-up messages',
  details: [
    'list           Queued and given-up messages, oldest first',
    'show ID...     All details, including the event',
    'retry ID...    Makes messages due again: the next `send` or `flush` sends them',
    'drop ID...     Removes messages permanently',
    '',
    '`retry` and `drop` accept --all instead of ids. With --dead, all actions are limited to given-up',
    'messages.',
  ].join('\n'),
  positionals: {
    action: { about: 'What to do [default: list]', choices: ACTIONS },
    ids: { about: 'Ids of messages, from the list', many: true },
  },
  options: {
    all: { about: 'All messages' },
    dead: { about: 'Only given-up messages' },
  },
  examples: [
    'runner notify queue list',
    'runner notify queue show mib0k3v1c-9f2e',
    'runner notify queue retry --all --dead && runner notify flush',
  ],
  async run({ io, paths, args, options, title, note }) {
    const action = actionOf(args.action ?? 'list', args.ids, options.all);
    const spool = new Spool(paths);
    const places: readonly SpoolPlace[] = options.dead ? ['dead'] : ['queue', 'dead'];
    const all = action === 'list' || options.all;
    let found = all ? findAll(spool, places) : findThese(spool, args.ids, places);
    let status: number = EXIT.ok;
    if (action === 'retry') {
      // A damaged message must not keep the others from being retried.
      const damaged = options.all ? damagedOf(spool, found) : new Map();
      for (const { message } of damaged.values()) note(message);
      if (damaged.size > 0) status = EXIT.failed;
      found = found.filter((each) => !damaged.has(each));
      retry({ io, paths, title: `${title} retry` }, spool, found);
      found = found.map((each) => ({ ...each, place: 'queue' }));
    }
    const messages = found.flatMap((each) => {
      const waiting = waitingOf(spool, each);
      if (!waiting) return [];
      const { event, ...rest } = waiting;
      return [action === 'show' && event ? { ...rest, event } : rest];
    });
    if (action === 'drop') for (const { name, place } of found) spool.drop(name, place);
    return { value: { action, messages } satisfies Shown, status };
  },
  human({ action, messages }: Shown, style, { io }) {
    if (action === 'show') return messages.map((each) => details(each, style)).join('\n');
    if (action === 'list') return listed(messages, style, io.now().getTime());
    const count = counted(messages.length, 'message');
    if (action === 'drop') return `${count} dropped\n`;
    return `${count} made due: run \`runner notify flush\`\n`;
  },
});

function actionOf(text: string, ids: readonly string[], all: boolean): Action {
  const action = text as Action;
  if (action === 'list' && ids[0] !== undefined)
    throw usage(`unexpected argument '${ids[0]}' found`);
  if (all && ids.length > 0) throw usage("the argument '--all' cannot be used with '[IDS]...'");
  if (action === 'show' && all) throw usage("the argument '--all' cannot be used with 'show'");
  if (action !== 'list' && !all && ids.length === 0) {
    throw notProvided('[IDS]...');
  }
  return action;
}

const HEADING = ['ID', 'CHANNEL', 'STATE', 'EVENT', 'AGE', 'TRIES', 'WHY'];

function listed(messages: readonly WaitingMessage[], style: Style, now: number): string {
  if (messages.length === 0) return 'no messages are waiting\n';
  const rows = messages.map((each) => [
    each.id,
    each.channel,
    each.state,
    `${each.event_type} ${each.project} ${each.version} [${each.deploy_id}]`,
    each.queued_at === null ? '-' : ageOf(now - Date.parse(each.queued_at)),
    String(each.attempts),
    each.problem ? problemText(each.problem) : '-',
  ]);
  return table(HEADING, rows, style);
}

function details({ event, problem, ...each }: WaitingMessage, style: Style): string {
  const rows: [string, string][] = [
    ['channel', each.channel],
    ['state', each.state],
    ['queued', each.queued_at ?? '-'],
    ['first tried', each.first_at ?? '-'],
    ['next try', each.next_at ?? (each.state === 'dead' ? '-' : 'now')],
    ['tries', String(each.attempts)],
    ['delivered', counted(each.messages, 'message')],
  ];
  if (each.maybe_duplicate) rows.push(['maybe twice', 'yes']);
  if (problem) rows.push(['problem', problemText(problem)]);
  if (problem?.hint) rows.push(['hint', harmlessLine(problem.hint)]);
  for (const [field, value] of Object.entries(event ?? {})) {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    rows.push([`event.${harmlessLine(field)}`, harmless(text)]);
  }
  return `${style.bold(each.id)}\n${fields(rows)}`;
}

/** `12 s`, `5 min`, `3 h`, `2 d`. */
function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
