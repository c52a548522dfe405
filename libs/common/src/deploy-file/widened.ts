/** What a `.deploy.yml` lets commands reach that another did not. */
import { type Network, widened } from '../config/network.ts';
import type { DeployFile } from './read.ts';

/** The entries that were added, `all hosts` among them, each once. */
export function widenedNetwork(before: DeployFile, after: DeployFile): string[] {
  const jobOf = (file: DeployFile, name: string): Network | undefined =>
    file.jobs.find((job) => job.name === name)?.network;
  const added = [
    ...widened(before.build.limits.network, after.build.limits.network),
    ...widened(before.hookNetwork, after.hookNetwork),
    ...after.jobs.flatMap(({ name, network }) => widened(jobOf(before, name) ?? true, network)),
  ];
  return [...new Set(added)];
}
