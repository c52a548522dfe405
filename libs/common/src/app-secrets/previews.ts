/** The secrets that the previews of an app get: those that are set for previews, and no others. */
import { previewSlug, removalOf } from '../apps/preview.ts';
import type { AppState } from '../apps/state.ts';
import { listApps, previewNames } from '../apps/store.ts';
import type { Server } from '../foundation/paths.ts';
import { Secret } from '../secrets/secret.ts';
import { setSecrets, unsetSecrets } from './change.ts';
import { ALL, PREVIEWS, readSecrets } from './file.ts';
import { openSecrets } from './open.ts';

const valueFor = (key: string, value: Secret) =>
  new Secret(value.reveal().replaceAll('{n}', previewSlug(key)));

/** Whether a secret for previews is what those that are there were started with; false if none is. */
export function previewsRunWith(
  { io, paths }: Pick<Server, 'io' | 'paths'>,
  of: string,
  { name, value }: { readonly name: string; readonly value: Secret },
): boolean {
  const { apps } = listApps(paths, previewNames(paths, of));
  const there = apps.filter((each) => each.preview && !removalOf(each));
  const runsWithIt = ({ app, instances, preview }: AppState) => {
    const wanted = valueFor(preview?.key ?? '', value).reveal();
    const { started } = openSecrets(paths, io.env, app);
    return Object.keys(instances).every((instance) =>
      started(instance).some((each) => each.name === name && each.value.reveal() === wanted),
    );
  };
  return there.length > 0 && there.every(runsWithIt);
}

/** Gives a preview today's secrets of the previews of `of`; `{n}` in a value is the preview's own. */
export function givePreviewSecrets(
  server: Server,
  of: string,
  { app, key }: { readonly app: string; readonly key: string },
): void {
  const { io, paths } = server;
  const given = openSecrets(paths, io.env, of).all.filter(({ instance }) => instance === PREVIEWS);
  const names = given.map(({ name }) => name);
  const had = (readSecrets(paths, app)?.secrets ?? []).map(({ name }) => name);
  const gone = had.filter((name) => !names.includes(name));
  if (gone.length > 0) unsetSecrets(server, app, gone, ALL);
  const own = given.map(({ name, value, plain }) => {
    return { name, instance: ALL, value: valueFor(key, value), plain: plain === true };
  });
  if (own.length > 0) setSecrets(server, app, own);
}
