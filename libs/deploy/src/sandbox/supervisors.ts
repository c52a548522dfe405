/** Where the clients of supervisors find them, outside and in the sandbox. */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Env } from '@runner/common/foundation/io';

/**
 * Supervisors belong to the user, not to an app: their clients look below the user's home, even though
 * an app has a HOME of its own.
 */
export function supervisorFolders({
  HOME: home = userInfo().homedir,
}: Env): Record<'PM2_HOME' | 'DOCKER_CONFIG', string> {
  return { PM2_HOME: join(home, '.pm2'), DOCKER_CONFIG: join(home, '.docker') };
}

/** What the client of a supervisor needs: pm2's folder; the docker engine's socket and its configuration. */
export function supervisorPaths(supervisor: 'pm2' | 'docker', env: Env): string[] {
  const usual = supervisorFolders(env);
  if (supervisor === 'pm2') return [env.PM2_HOME ?? usual.PM2_HOME];
  const { DOCKER_CONFIG = usual.DOCKER_CONFIG, DOCKER_HOST = '', XDG_RUNTIME_DIR: own } = env;
  const named = /^unix:\/\/(\/.+)$/.exec(DOCKER_HOST)?.[1];
  const sockets = ['/run/docker.sock', own && join(own, 'docker.sock'), named];
  return [...sockets, DOCKER_CONFIG].filter(
    (path) => path !== undefined && path !== '',
  ) as string[];
}
