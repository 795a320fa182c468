// Two hundred texts that would execute or become markup if they were treated as more than text.
const CALL = 'window.hit=(window.hit||0)+1'
const elements = [
  `<script>${CALL}</script>`,
  `<img src=x onerror="${CALL}">`,
  `<svg onload="${CALL}">`,
  `<svg><script>${CALL}</script></svg>`,
  `<iframe srcdoc="<script>parent.${CALL}</script>">`,
  `<iframe src="javascript:parent.${CALL}">`,
  `<body onload="${CALL}">`,
  `<details open ontoggle="${CALL}">`,
  `<video src=x onerror="${CALL}">`,
  `<input autofocus onfocus="${CALL}">`,
  `<a href="javascript:${CALL}">x</a>`,
  `<math><mi xlink:href="javascript:${CALL}">`,
  `<style>@import'javascript:${CALL}'</style>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `<link rel=stylesheet href="https://evil.example/x.css">`,
  `<object data="https://evil.example"></object>`,
  `<form action="https://evil.example"><button>x</button></form>`,
  `<template><img src=x onerror="${CALL}"></template>`,
  `<marquee onstart="${CALL}">`,
]
/** Escapes from contexts where a text may occur, and ways to hide. */
const around: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `">${text}`,
  (text) => `'>${text}`,
  (text) => `</textarea>${text}`,
  (text) => `</title>${text}`,
  (text) => `</h1></header>${text}<!--`,
  (text) => `]]>${text}`,
  (text) => `QEMU (${text})`,
  (text) => text.replaceAll('<', '&lt;').replaceAll('&lt;', '<\t'),
  (text) => text.toUpperCase().replaceAll('WINDOW.HIT', 'window.hit'),
]

export const hostileTexts: readonly string[] = elements.flatMap((text) =>
  around.map((wrap) => wrap(text)),
)
