/** Previews, once the apps themselves are deployed: a process of its own, which no fetch waits for. */
import { findApp, previewNames } from '@runner/common/apps/store';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { previewedApp } from '@runner/common/foundation/names';
import { startInBackground } from '../run/background.ts';
import type { FetchRequest } from './request.ts';

/** Brings the previews of the apps in line with the code host, if one of them has any. */
export function startPreviews(request: FetchRequest): void {
  const { paths, reporter, apps } = request;
  const has = (app: string) =>
    unlessFailure(() => findApp(paths, app)?.previews, undefined) !== undefined;
  const left = new Set(previewNames(paths).map((name) => previewedApp(name) ?? ''));
  const wanted = apps.filter((app) => left.has(app) || has(app));
  if (wanted.length === 0 || startInBackground(request, 'runner-preview', ['sync', ...wanted]))
    return;
  reporter.note(`${wanted.join(', ')}: previews need the package runner-preview`);
}
