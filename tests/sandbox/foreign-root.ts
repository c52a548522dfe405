/** What the short and the long tests of foreign root share. */
import { suite } from 'uvu';

export const OTHER = 61_001;

export const foreign = suite("root in another user's root");
export const test = process.geteuid?.() === 0 ? foreign : foreign.skip;
