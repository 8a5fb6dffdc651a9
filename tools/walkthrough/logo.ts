import sharp from "sharp"

const logoSvg = `<svg xmlns="http://www.w3.org/2000/svg" width="360" height="120">
  <rect width="360" height="120" rx="16" fill="#12344d"/>
  <path d="M40 78h120l-18 24H58z" fill="#f2a541"/>
  <path d="M96 20v52H52zM104 32v40h36z" fill="#ffffff"/>
  <path d="M190 50q20-18 40 0t40 0 40 0M190 80q20-18 40 0t40 0 40 0" stroke="#7fc8d8" stroke-width="8" fill="none"/>
</svg>`

/** A boat on the sea, as a PNG file. */
export const drawLogo = async () => new Uint8Array(await sharp(Buffer.from(logoSvg)).png().toBuffer())
