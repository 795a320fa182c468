/** How a screen that was shown came to its end. */
export interface Relayed {
  /** From the guest to the viewer. */
  readonly shown: number
  /** From the viewer to the guest. */
  readonly typed: number
  readonly endedBy: 'viewer' | 'screen' | 'us'
}

export interface RelayOptions {
  /** Ends it; its reason is told to the viewer in words. */
  readonly signal: AbortSignal
}
