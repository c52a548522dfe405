/** Where a preview is reached. */
import type { AppState } from '@runner/common/apps/state';

/** Its address; null for a preview that was built and serves nothing. */
export function previewUrl({ preview, instances }: AppState): string | null {
  const active = Object.values(instances).flatMap(({ current }) => current ?? []);
  const isServed = active.length === 0 || active.some(({ url }) => url);
  return preview && isServed ? `https://${preview.domain}` : null;
}
