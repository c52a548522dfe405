/** The only script of the pages: it puts parts that have changed in their places. */
export const SCRIPT = `
const live = document.getElementById('live');
const watch = () => {
  const stream = new EventSource(document.getElementById('stream').dataset.events);
  stream.onmessage = ({ data }) => {
    for (const [id, html] of Object.entries(JSON.parse(data))) {
      const old = document.getElementById(id);
      const made = document.createElement('template');
      made.innerHTML = html;
      const fresh = made.content.firstElementChild;
      if (!old || old.isEqualNode(fresh)) continue;
      const focused = old.contains(document.activeElement) && document.activeElement.getAttribute('href');
      old.replaceWith(fresh);
      if (focused) fresh.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus();
    }
  };
  stream.addEventListener('reload', () => location.reload());
  stream.onopen = () => { live.textContent = 'Live. Times are in UTC.'; };
  stream.onerror = () => {
    live.textContent = 'The connection is lost: what is shown may be old.';
    // When a proxy answers with an error, the browser does not try again.
    if (stream.readyState === EventSource.CLOSED) setTimeout(watch, 5000);
  };
};
watch();
`;
