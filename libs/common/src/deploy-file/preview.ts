/** `preview` of `.deploy.yml`. */
import { keys } from '../yaml/keys.ts';
import { line } from './kinds.ts';

export const PREVIEW_SCHEMA = keys(
  {
    run: line('The command that starts a preview; needed unless start.type is process or none'),
    database: keys(
      {
        create: line('Makes it, before migrate'),
        drop: line('Drops it when the preview is removed; also if it was not made'),
      },
      'The database of a preview; without it, migrate is skipped',
      ['create', 'drop'],
    ),
  },
  'What previews of pull requests do differently',
);

/** What a preview does differently. */
export function previewOf(section: ReadonlyMap<string, unknown> | undefined) {
  const database = section?.get('database') as Map<string, string> | undefined;
  const [create, drop] = [database?.get('create'), database?.get('drop')];
  return {
    /** Starts it as a process, whatever starts the app. */
    run: section?.get('run') as string | undefined,
    /** Commands that make its own database, and drop it. */
    database: create !== undefined && drop !== undefined ? { create, drop } : undefined,
  };
}
