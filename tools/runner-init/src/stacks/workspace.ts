/** The apps of a repository that has several. */
import type { Checkout } from '../look/checkout.ts';
import { packageOf } from './dependencies.ts';
import { detect } from './detect.ts';

const MANIFEST =
  /^((?:[^/]+\/){1,2})(?:package\.json|go\.mod|requirements\.txt|pyproject\.toml|Pipfile|Gemfile|composer\.json|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|mix\.exs|deno\.jsonc?|index\.(?:html|php))$/;
/** Folders that are looked into. */
const FOLDERS = 100;

/** Whether the repository says that it has several packages. */
export function isWorkspace(top: Checkout): boolean {
  const files = ['pnpm-workspace.yaml', 'lerna.json', 'turbo.json', 'nx.json'];
  return files.some(top.has) || packageOf(top).workspaces.length > 0;
}

/** The folders that hold an app which can be deployed. */
export function appsIn(top: Checkout): string[] {
  const folders = top.files.flatMap((file) => MANIFEST.exec(file)?.[1]?.slice(0, -1) ?? []);
  return [...new Set(folders)].slice(0, FOLDERS).filter((dir) => {
    const detected = detect(top.below(dir), top);
    return detected && detected.missing === undefined;
  });
}
