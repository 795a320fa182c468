/** The page's only style sheet. It contains no character that needs escaping in HTML. */
export const referenceStyle = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6577; --line: #dfe3ea; --ground: #fbfbf9; --card: #ffffff;
  --get: #1f6f54; --post: #1f5fa8; --patch: #8a5a00; --delete: #a8332b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf0; --soft: #9aa5b8; --line: #2c3442; --ground: #12161d;
  --card: #1a202a; --get: #6fcfa8; --post: #86b8f5; --patch: #e2b65c; --delete: #f08f87; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main, header { max-width: 60rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 3rem 0 .75rem; text-transform: capitalize; }
h3 { font-size: 1rem; margin: 0; display: flex; gap: .75rem; align-items: baseline; flex-wrap: wrap; }
p { margin: .4rem 0; max-width: 44rem; }
a { color: inherit; text-underline-offset: .2em; }
nav { margin: 1.5rem 0 0; display: flex; flex-wrap: wrap; gap: .4rem 1rem; text-transform: capitalize; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: .75rem 0; }
article:target { border-color: var(--post); }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { margin: .75rem 0 .5rem; padding: .6rem .8rem; overflow-x: auto; background: var(--ground); border: 1px solid var(--line);
  border-radius: .35rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .2rem .75rem; margin: .5rem 0 0; color: var(--soft); font-size: .9rem; }
dt { margin: 0; } dd { margin: 0; overflow-wrap: anywhere; }
.method { font: 600 13px/1.5 ui-monospace, monospace; min-width: 4rem; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--patch); } .delete { color: var(--delete); }
.soft { color: var(--soft); }
footer { margin: 3rem 0; color: var(--soft); font-size: .9rem; }
`
