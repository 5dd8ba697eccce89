/** The ground on which a picture stands out, as the service judges it (contract P1). */

/** Pixels a side that are looked at. */
const SIDE = 16;
/** Of the luminance: white and black have the same contrast to it. */
const MIDDLE = 0.179;

/** @type {OffscreenCanvasRenderingContext2D | null | undefined} */
let context;

/** @param {HTMLImageElement} image that is loaded @returns {Promise<"" | "none" | "light" | "dark">} none where it covers all of it, and empty where it comes from elsewhere */
export async function groundOf(image) {
  if (new URL(image.src).origin !== location.origin) return "";
  // The browser scales it beside everything else.
  const small = await createImageBitmap(image, { resizeWidth: SIDE, resizeHeight: SIDE });
  context ??= new OffscreenCanvas(SIDE, SIDE).getContext("2d", { willReadFrequently: true });
  if (!context) return "";
  context.clearRect(0, 0, SIDE, SIDE);
  context.drawImage(small, 0, 0);
  small.close();
  const { data } = context.getImageData(0, 0, SIDE, SIDE);
  let [seen, bright] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, alpha] = [0, 1, 2, 3].map((next) => (data[at + next] ?? 0) / 255);
    seen += alpha ?? 0;
    if (0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > MIDDLE) bright += alpha ?? 0;
  }
  if (seen > 0.98 * SIDE * SIDE) return "none";
  return 2 * bright > seen ? "dark" : "light";
}

/** @param {number | undefined} value of sRGB, near enough */
const linear = (value = 0) => value ** 2.2;
