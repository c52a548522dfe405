/** Stands in for @runner/common/cli/main when the pages are made: collects the tools instead of running one. */
import type { Tool } from '@runner/common/cli/command';

export const tools: Tool[] = [];

/** @public */
export function main(tool: Tool): void {
  tools.push(tool);
}
