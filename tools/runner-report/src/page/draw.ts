/** Reads the history and draws the page. */
import { hostname } from 'node:os';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { readDeploys } from '@runner/history/deploys/read';
import type { Period } from '@runner/history/figures/figures';
import { registryOf, UNKNOWN } from '../model/registry.ts';
import { redacted, reportOf } from '../model/report.ts';
import { pageOf } from './page.ts';

export interface ReportRequest {
  /** Undefined: all apps. */
  readonly project: string | undefined;
  /** The records are on standard input, perhaps those of another server. */
  readonly isPiped: boolean;
  readonly period: Period;
  /** Do not query the supervisors. */
  readonly offline: boolean;
}

/** `note` reports files that cannot be read. */
export async function draw(
  { io, paths, note }: { readonly io: Io; readonly paths: Paths; note(text: string): void },
  { project: app, isPiped, period, offline }: ReportRequest,
): Promise<{ page: string; deploys: number }> {
  const input = isPiped ? io.stdin : undefined;
  const history = await readDeploys({ paths, project: app, input, note });
  const registry = isPiped ? UNKNOWN : await registryOf({ io, paths }, { app, offline }, note);
  const cleaner = new RecordCleaner({ paths, env: io.env });
  const source = { ...registry, server: isPiped ? undefined : hostname(), app, period, history };
  const report = await redacted(reportOf(source), async (record) => cleaner.clean(record));
  return { page: pageOf(report), deploys: report.figures.deploys };
}
