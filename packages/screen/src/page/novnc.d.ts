/** The part of noVNC that the page uses; noVNC has no types. */
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { readonly shared?: boolean })
    viewOnly: boolean
    scaleViewport: boolean
    background: string
    focus(): void
    blur(): void
    disconnect(): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
    clipboardPasteFrom(text: string): void
  }
}
