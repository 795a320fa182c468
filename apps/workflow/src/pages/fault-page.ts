import { element } from '@skerry/xml'

import { renderPage } from './html.ts'

/** The error page. */
export const faultPage = ({
  status,
  message,
  hint,
}: Readonly<{ status: number; message: string; hint?: string }>): string =>
  renderPage(
    { title: 'Error', user: undefined },
    element('h1', {}, 'The request failed'),
    element('p', { class: 'panel', role: 'alert' }, message),
    hint === undefined ? undefined : element('p', {}, hint),
    element('p', { class: 'quiet' }, `Status ${status}`),
    element('p', {}, element('a', { href: '/' }, 'Back to the workflows')),
  )
