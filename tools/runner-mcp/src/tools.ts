/** What an agent may call: names, descriptions and schemas, and the executables that answer. */
import { Failure } from '@runner/common/foundation/failure';
import { isObject, type JsonObject } from '@runner/common/text/json';
import { GRANT_LEVELS, type Grant } from '@runner/deploy/approval/grants';

/** Arguments that match the schema of their tool. */
export type ToolArguments = Readonly<Record<string, string | number | undefined>>;

/** An argument: its schema, and its form in words that follow `must be`. */
interface Property {
  readonly schema: {
    readonly type: 'string' | 'integer';
    readonly description?: string;
    readonly pattern?: string;
    readonly enum?: readonly string[];
    readonly minimum?: number;
    readonly maximum?: number;
  };
  readonly form: string;
}

/** One tool of the protocol. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** The lowest level that has it. */
  readonly level: Grant['level'];
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  /** The executable and its arguments, without `--json`. Throws `usage` for those that do not go together. */
  argv(args: ToolArguments): readonly [tool: string, ...args: string[]];
  /** What of a line of its JSON is answered; absent: all that is not empty. */
  shape?(line: JsonObject): unknown;
}

const text = (description: string, pattern: string, form: string): Property => {
  return { schema: { type: 'string', description, pattern }, form };
};
const NAME = 'a name of letters, digits, ., _ and -, at most 63';
const app = text('Name of the app', '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$', NAME);
const ref = (what: string) =>
  text(
    what,
    '^[^\\s\\x00-\\x1f-][^\\s\\x00-\\x1f]{0,199}$',
    'one word that does not begin with -, at most 200 characters',
  );
const count = (description: string, maximum: number): Property => {
  const schema = { type: 'integer', description, minimum: 1, maximum } as const;
  return { schema, form: `a whole number from 1 to ${maximum}` };
};
const VERBS = ['deploy', 'rollback', 'restart', 'start', 'stop'];
const given = (name: string, value: string | number | undefined) =>
  value === undefined ? [] : [`--${name}=${value}`];
const words = (...values: (string | number | undefined)[]) =>
  values.flatMap((value) => (value === undefined ? [] : [String(value)]));

/** The columns of `history`: what a diagnosis needs. */
function pastDeploy(row: JsonObject): JsonObject {
  const { timestamp, result, version, commit, subject, user, trigger, stage, deploy_id } = row;
  const [cause] = String(row.cause ?? '').split('\n');
  return { timestamp, result, version, commit, subject, user, trigger, stage, cause, deploy_id };
}

/** The columns of `status` without an app. */
function listed({ apps }: JsonObject): unknown {
  if (!Array.isArray(apps)) return undefined;
  return apps.map(({ app: name, state, next, instances }) => {
    const versions = instances.map(({ instance, current, running }: JsonObject) => {
      return { instance, version: (current as { version?: string } | null)?.version, running };
    });
    return { app: name, state, next, instances: versions };
  });
}

export const TOOLS: readonly AgentTool[] = [
  {
    name: 'status',
    description:
      'State of an app: versions, what runs, failures, what is next. Without app: a line for each.',
    level: 'look',
    properties: { app },
    required: [],
    argv: ({ app: name }) =>
      name === undefined ? ['runner-list'] : ['runner-status', String(name)],
    shape: (line) => ('apps' in line ? listed(line) : line),
  },
  {
    name: 'explain',
    description:
      'Start here when an app is not well: cause of the newest failure, files of the commit that it names, what changed since the last good version, what runs, what an operator would type.',
    level: 'look',
    properties: { app },
    required: ['app'],
    argv: ({ app: name }) => ['runner-why', String(name)],
  },
  {
    name: 'history',
    description: 'The last deploys and rollbacks, oldest first.',
    level: 'look',
    properties: { app, count: count('How many [10]', 30) },
    required: ['app'],
    argv: (args) => ['runner-history', String(args.app), `--lines=${args.count ?? 10}`],
    shape: pastDeploy,
  },
  {
    name: 'logs',
    description:
      'The last lines that an app printed. With deploy: the log of that deploy; > marks the lines of the cause.',
    level: 'look',
    properties: {
      app,
      lines: count('How many [60]', 200),
      deploy: text(
        'deploy_id of explain or history',
        '^\\w[\\w-]{7}$',
        'the deploy_id of a deploy',
      ),
    },
    required: ['app'],
    argv: ({ app: name, lines = 60, deploy }) =>
      deploy === undefined
        ? ['runner-logs', String(name), `--lines=${lines}`]
        : ['runner-debug', 'log', String(name), `--deploy=${deploy}`],
    shape: ({ line, text: printed, marked }) =>
      printed === undefined ? line : `${marked ? '>' : ' '} ${printed}`,
  },
  {
    name: 'changes',
    description:
      'Commits between two versions; without them, those that the next deploy would bring.',
    level: 'look',
    properties: { app, from: ref('Version, branch, tag or commit'), to: ref('The same') },
    required: ['app'],
    argv: ({ app: name, from, to }) => {
      if (to !== undefined && from === undefined)
        throw new Failure('usage', "these arguments are refused: 'to' needs 'from'");
      return ['runner-changes', ...words(name, from, to)];
    },
  },
  {
    name: 'plan',
    description:
      'Stores a plan and says what it would do; changes nothing. A person approves it on the server: runner approve ID.',
    level: 'propose',
    properties: {
      app,
      verb: { schema: { type: 'string', enum: VERBS }, form: `one of ${VERBS.join(', ')}` },
      ref: ref('deploy: branch, tag or commit'),
      to: ref('rollback: the version'),
      instance: text('Only this instance', '^[A-Za-z0-9][\\w.-]{0,62}$', NAME),
    },
    required: ['app', 'verb'],
    argv: ({ app: name, verb, ref: wanted, to, instance }) => [
      'runner-plan',
      ...words(verb, name),
      ...[...given('ref', wanted), ...given('to', to), ...given('instance', instance)],
    ],
  },
  {
    name: 'apply',
    description: 'Carries out a plan of yours that is approved, once, or says what became of it.',
    level: 'propose',
    properties: { plan: text('id of plan', '^p-[0-9a-f]{8}$', 'an id such as p-1a2b3c4d') },
    required: ['plan'],
    argv: ({ plan }) => ['runner-apply', String(plan)],
  },
];

export function toolsOf(level: Grant['level']): AgentTool[] {
  const rank = (each: Grant['level']) => GRANT_LEVELS.indexOf(each);
  return TOOLS.filter((each) => rank(each.level) <= rank(level));
}

/** The schema of a tool's arguments: nothing else may be given. */
export function schemaOf({ properties, required }: AgentTool) {
  return {
    type: 'object' as const,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, { schema }]) => [name, schema]),
    ),
    required: [...required],
    additionalProperties: false,
  };
}

/** What is wrong with the arguments of a call, in words; undefined: nothing. */
export function wrongIn(
  { name, properties, required }: AgentTool,
  args: unknown,
): string | undefined {
  if (!isObject(args)) return 'they are not an object';
  const unknown = Object.keys(args).find((each) => !Object.hasOwn(properties, each));
  const known = Object.keys(properties).join(', ');
  if (unknown !== undefined) return `${name} has no '${unknown.slice(0, 40)}', but ${known}`;
  const missing = required.find((each) => !Object.hasOwn(args, each));
  if (missing !== undefined) return `'${missing}' is missing`;
  const wrong = Object.entries(properties).find(
    ([each, property]) => Object.hasOwn(args, each) && !fits(property, args[each]),
  );
  return wrong && `'${wrong[0]}' must be ${wrong[1].form}`;
}

function fits({ schema }: Property, value: unknown): boolean {
  const { type, pattern = '', enum: choices, minimum = 0, maximum = 0 } = schema;
  if (type === 'integer')
    return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  if (typeof value !== 'string') return false;
  return choices ? choices.includes(value) : new RegExp(pattern, 'u').test(value);
}
