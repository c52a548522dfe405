/**
 * The cycles of a graph (name -> names it points to), one per closing edge that a depth-first walk
 * in alphabetical order meets, each as the names along it.
 */
export function findCycles(graph) {
  const done = new Set();
  const way = [];
  const cycles = [];
  const visit = (name) => {
    if (done.has(name)) return;
    const seen = way.indexOf(name);
    if (seen >= 0) {
      cycles.push(way.slice(seen));
      return;
    }
    way.push(name);
    for (const next of [...(graph.get(name) ?? [])].sort()) visit(next);
    way.pop();
    done.add(name);
  };
  for (const name of [...graph.keys()].sort()) visit(name);
  return cycles;
}
