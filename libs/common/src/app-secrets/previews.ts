/** The secrets that the previews of an app get: those that are set for previews, and no others. */
import { previewSlug } from '../apps/preview.ts';
import type { Server } from '../foundation/paths.ts';
import { Secret } from '../secrets/secret.ts';
import { setSecrets, unsetSecrets } from './change.ts';
import { ALL, PREVIEWS, readSecrets } from './file.ts';
import { openSecrets } from './open.ts';

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
    const text = value.reveal().replaceAll('{n}', previewSlug(key));
    return { name, instance: ALL, value: new Secret(text), plain: plain === true };
  });
  if (own.length > 0) setSecrets(server, app, own);
}
