/** Reads the history and draws the page. */
import { hostname } from 'node:os';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { readDeploys } from '@runner/history/deploys/read';
import type { Period } from '@runner/history/figures/figures';
import { registryOf } from '../model/registry.ts';
import { redacted, reportOf } from '../model/report.ts';
import { pageOf } from './page.ts';

export interface ReportRequest {
  /** Undefined: all apps. */
  readonly app: string | undefined;
  readonly period: Period;
  /** Do not query the supervisors. */
  readonly offline: boolean;
}

/** `note` reports files that cannot be read. */
export async function draw(
  { io, paths, note }: { readonly io: Io; readonly paths: Paths; note(text: string): void },
  { app, period, offline }: ReportRequest,
): Promise<{ page: string; deploys: number }> {
  const history = await readDeploys(paths, app, note);
  const registry = await registryOf({ io, paths }, { app, offline }, note);
  const cleaner = new RecordCleaner({ paths, env: io.env });
  const source = { ...registry, server: hostname(), app, period, history };
  const report = await redacted(reportOf(source), (record) => cleaner.clean(record));
  return { page: pageOf(report), deploys: report.figures.deploys };
}
