/** Draws the page; bundled into a file of its own with d3, which only a report needs. */
import { type Clean, redacted, reportOf, type Source } from '../model/report.ts';
import { pageOf } from './page.ts';

export async function draw(
  source: Source,
  clean: Clean,
): Promise<{ page: string; deploys: number }> {
  const report = await redacted(reportOf(source), clean);
  return { page: pageOf(report), deploys: report.figures.deploys };
}
