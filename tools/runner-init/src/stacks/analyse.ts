/** What a repository is: a proposal, or one sentence that names what is missing. */
import type { Checkout } from '../look/checkout.ts';
import { processIn } from '../look/sources.ts';
import { type Detected, detect, detectedAs } from './detect.ts';
import { type Proposal, propose } from './propose.ts';
import { appsIn, isWorkspace } from './workspace.ts';

/** What was found. */
export type Analysis =
  | { readonly proposal: Proposal }
  | {
      /** Why there is none, a sentence. */
      readonly missing: string;
      /** Folders with an app of their own, of which one has to be chosen. */
      readonly apps: readonly string[];
    };

/** Analyses a repository, or the app in one of its folders. */
export function analyse(top: Checkout, dir?: string): Analysis {
  if (dir !== undefined) return analysed(top, dir);
  const own = detect(top);
  const isApp = own !== undefined && (own.missing === undefined || hasProcess(top));
  if (isApp && !isWorkspace(top)) return analysed(top, '');
  const [only, ...more] = appsIn(top);
  if (only && more.length > 0) {
    const apps = [only, ...more];
    return { missing: `there are ${apps.length} apps: choose one with --dir`, apps };
  }
  return analysed(top, only ?? '');
}

const hasProcess = (checkout: Checkout) => processIn(checkout, 'web') !== undefined;

function analysed(top: Checkout, dir: string): Analysis {
  const checkout = dir === '' ? top : top.below(dir);
  const detected = detect(checkout, top) ?? withProcfile(checkout);
  if (!detected) return { missing: unknown(checkout), apps: [] };
  if (detected.missing !== undefined && !hasProcess(checkout))
    return { missing: `${detected.stack.name}: ${detected.missing}`, apps: [] };
  return { proposal: propose({ top, dir }, detected) };
}

/** A Procfile alone says how to start, and nothing has to be built. */
function withProcfile(checkout: Checkout): Detected | undefined {
  if (!hasProcess(checkout)) return undefined;
  const stack = { name: 'Procfile', language: 'none', when: [] } as const;
  return { ...detectedAs(checkout, checkout, stack, {}), migrate: undefined };
}

function unknown(checkout: Checkout): string {
  if (checkout.files.length === 0) return 'the folder has no files yet';
  return 'no file names a known stack: no package.json, pyproject.toml, requirements.txt, Gemfile, composer.json, go.mod, Cargo.toml, pom.xml, build.gradle, *.csproj, mix.exs, index.html, compose.yaml or Procfile';
}
