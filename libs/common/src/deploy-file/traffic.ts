/** `traffic` of `.deploy.yml`: deploys that a proxy does not notice. */
import type { Instance, Traffic } from './instance.ts';
import type { Start } from './start.ts';
import { type Fail, milliseconds } from './values.ts';

type TrafficValues = ReadonlyMap<string, unknown>;

const DRAIN = 30_000;

/** An instance without what `traffic` adds, and the keys that it was read from. */
interface Plain {
  readonly instance: Instance;
  readonly values: TrafficValues;
}

/** Adds `traffic` to the instances that have it. Throws what the file gets wrong. */
export function withTraffic(all: readonly Plain[], given: unknown, fail: Fail): Instance[] {
  for (const { instance, values } of all) {
    if (given === undefined && (values.has('traffic') || values.has('ports')))
      throw fail('instances', `${instance.name} has keys that need the section traffic`);
  }
  if (given === undefined) return all.map(({ instance }) => instance);
  const section: TrafficValues = given instanceof Map ? given : new Map([['type', given]]);
  const type = section.get('type') as Traffic['type'];
  const common = {
    type,
    run: section.get('run') as string | undefined,
    drain: milliseconds(section.get('drain'), DRAIN),
    overlap: section.get('overlap') !== false,
  };
  if (type === 'command' && common.run === undefined)
    throw fail('traffic', 'type command needs the key run');
  if (type !== 'command' && common.run !== undefined)
    throw fail('traffic.run', `does not go with type ${type}`);
  const shared = section.get('ports') as number[] | undefined;
  const instances = all.map(({ instance, values }): Instance => {
    if (values.get('traffic') === false) {
      if (values.has('ports')) throw fail('instances', `${instance.name} has ports but no traffic`);
      return instance;
    }
    if ('PORT' in instance.env)
      throw fail('traffic', `sets PORT itself: remove it from the env of ${instance.name}`);
    const ports = portsOf(instance.name, type, values.get('ports') ?? shared, fail);
    return { ...instance, traffic: { ...common, ports } };
  });
  refuseShared(instances, fail);
  if (instances.every((each) => each.traffic === undefined))
    throw fail('traffic', 'needs an instance with traffic');
  return instances;
}

function portsOf(
  name: string,
  type: Traffic['type'],
  ports: unknown,
  fail: Fail,
): Traffic['ports'] {
  if (type === 'socket') {
    if (ports !== undefined) throw fail('traffic', 'type socket takes no ports');
    return undefined;
  }
  if (ports === undefined) throw fail('traffic', `type ${type} needs the key ports, for ${name}`);
  const [first, second, ...more] = ports as number[];
  if (first === undefined || second === undefined || more.length > 0 || first === second)
    throw fail('traffic.ports', 'must be two different ports');
  return [first, second];
}

function refuseShared(instances: readonly Instance[], fail: Fail): void {
  const owners = new Map<number, string>();
  for (const { name, traffic } of instances) {
    for (const port of traffic?.ports ?? []) {
      const owner = owners.get(port);
      if (owner !== undefined)
        throw fail(
          'traffic',
          `port ${port} is of ${owner} and of ${name}: give each instance ports`,
        );
      owners.set(port, name);
    }
  }
}

/** Throws what does not go with `traffic`; `hasHealth`: whether the file has the section `health`. */
export function checkTraffic(
  instances: readonly Instance[],
  start: Start,
  hasHealth: boolean,
  fail: Fail,
): void {
  if (instances.every(({ traffic }) => traffic === undefined)) return;
  if (!hasHealth) throw fail('traffic', 'needs the section health, which says when to switch');
  if (start.type === 'none') throw fail('traffic', 'needs a start.type that starts the app');
  if ('config' in start && /\.ya?ml$/.test(start.config))
    throw fail('traffic', 'needs an ecosystem file in JavaScript or JSON');
  if (start.type !== 'systemd') return;
  if (start.reload) throw fail('traffic', 'does not work with start.reload');
  if (!start.unit.includes('@.'))
    throw fail(
      'traffic',
      `needs a template unit like ${start.unit.replace(/(\.[a-z]+)?$/, '@.service')}`,
    );
}
