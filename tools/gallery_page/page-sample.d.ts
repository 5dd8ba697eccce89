/** The sample page on which previews show works: that of the console, without its script. The publisher makes the module. */
declare const sample: string;
export default sample;
