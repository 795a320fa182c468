/** Named colours for light and dark mode; embedded in the drawing, so that it looks the same everywhere. */
export const css = `
svg { --paper: #ffffff; --ink: #1b2430; --soft: #5b6878; --line: #8894a4; --box: #f6f8fa; --edge: #b6c0cc; --frame: #fbfcfd; --lane: #eef2f6;
  --done: #1a7f4b; --done-box: #e8f6ee; --running: #0b5fc4; --running-box: #e6f0fd; --failed: #b3261e; --failed-box: #fdeceb; --warm: #8a5a00; }
@media (prefers-color-scheme: dark) { svg { --paper: #15181c; --ink: #e8edf3; --soft: #a5b1c0; --line: #78869a; --box: #1d242e; --edge: #465365; --frame: #161c24; --lane: #1a212a;
  --done: #57c98b; --done-box: #14301f; --running: #7db4ff; --running-box: #142a47; --failed: #ff8d85; --failed-box: #3b1a18; --warm: #e0b252; } }
text { font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: var(--ink); }
.paper { fill: var(--paper); }
.kind { font-size: 10.5px; fill: var(--soft); letter-spacing: .06em; text-transform: uppercase; }
.name { font-size: 14px; font-weight: 600; }
.detail { font-size: 12px; fill: var(--soft); }
.condition, .caption { font-size: 12px; fill: var(--warm); font-style: italic; }
.box { fill: var(--box); stroke: var(--edge); stroke-width: 1.2; }
.frame { fill: var(--frame); stroke: var(--edge); stroke-width: 1.2; }
.lane { fill: var(--lane); stroke: none; }
.catch { fill: none; stroke: var(--warm); stroke-width: 1.2; stroke-dasharray: 5 4; }
.rule { stroke: var(--edge); stroke-width: 1; }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.5; }
.tip { fill: var(--line); }
.pill { fill: var(--paper); stroke: var(--line); stroke-width: 1.2; }
.terminal { fill: var(--ink); }
.error { fill: none; stroke: var(--warm); stroke-width: 1.5; stroke-dasharray: 5 4; }
.done > .box { fill: var(--done-box); }
.done > .box, .done > .frame { stroke: var(--done); }
.running > .box { fill: var(--running-box); }
.running > .box, .running > .frame { stroke: var(--running); stroke-width: 2.2; }
.failed > .box { fill: var(--failed-box); }
.failed > .box, .failed > .frame { stroke: var(--failed); stroke-width: 2.2; }
.skipped > .box, .skipped > .frame, .canceled > .box, .canceled > .frame { stroke-dasharray: 3 3; }
.skipped > .name, .canceled > .name { fill: var(--soft); }
.mark { fill: none; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
.done > .mark { stroke: var(--done); } .failed > .mark { stroke: var(--failed); } .running > .mark { stroke: var(--running); fill: var(--running); }
.skipped > .mark, .canceled > .mark { stroke: var(--soft); }
@media (prefers-reduced-motion: no-preference) { .running > .mark { animation: breathe 1.6s ease-in-out infinite; } }
@keyframes breathe { 50% { opacity: .35; } }
`
