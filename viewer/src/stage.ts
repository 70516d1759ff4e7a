// The room in which bodies stand: camera, light, ground. It draws only when something has changed.
import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

// Where light comes from, in the camera's frame, so that no side is ever dark; the balls of points use the same.
export const sunDirection = new three.Vector3(-0.4, 0.75, 0.55).normalize();

export class Stage {
  readonly content = new three.Group();
  readonly controls: OrbitControls;
  readonly canvas: HTMLCanvasElement;
  readonly camera = new three.PerspectiveCamera(34, 1, 0.01, 100);
  drawn = 0; // how many times
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private ground?: three.GridHelper;
  private wanted = false;

  constructor(private readonly place: HTMLElement) {
    // The buffer is kept for pictures of the canvas.
    this.renderer = new three.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "The simulation. Drag to turn, wheel to zoom, right button to move.");
    place.append(this.canvas);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.draw());

    const sun = new three.DirectionalLight(0xfff4e6, 2.4);
    sun.position.copy(sunDirection);
    const fill = new three.DirectionalLight(0xdfeaff, 0.9);
    fill.position.set(0.7, -0.2, 0.4);
    this.camera.add(sun, sun.target, fill, fill.target);
    this.scene.add(this.camera, new three.HemisphereLight(0xffffff, 0x9a9fa8, 1.3), this.content);
    new ResizeObserver(() => this.resize()).observe(place);
    this.resize();
  }

  setTheme(dark: boolean): void {
    this.scene.background = new three.Color(dark ? 0x16191d : 0xf4f5f6);
    if (this.ground) this.colourGround(dark);
    this.draw();
  }

  // Draws at the next occasion, once however often it is asked for.
  draw(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.renderer.render(this.scene, this.camera);
      ++this.drawn;
    });
  }

  // Looks at everything within the box; `flat`: from straight ahead.
  fit(box: three.Box3, flat: boolean): void {
    if (box.isEmpty()) return;
    const sphere = box.getBoundingSphere(new three.Sphere());
    const radius = Math.max(sphere.radius, 1e-6);
    const angle = (this.camera.fov * Math.PI) / 360;
    const distance = radius / Math.sin(Math.min(angle, Math.atan(Math.tan(angle) * this.camera.aspect)));
    const from = flat ? new three.Vector3(0, 0, 1) : new three.Vector3(0.45, 0.35, 1).normalize();
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(from, (flat ? 1.02 : 1.2) * distance);
    this.camera.near = distance / 500;
    this.camera.far = distance * 50;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  // A grid as ground at this height, six times as wide as the box; none without a height.
  setGround(height: number | undefined, box: three.Box3, dark: boolean): void {
    if (this.ground) this.scene.remove(this.ground);
    this.ground = undefined;
    if (height === undefined || box.isEmpty()) return;
    const size = box.getSize(new three.Vector3()), centre = box.getCenter(new three.Vector3());
    const extent = Math.max(size.x, size.y, size.z, 1e-6), power = 10 ** Math.floor(Math.log10(extent / 4));
    const cell = power * ([1, 2, 5].find((factor) => factor * power >= extent / 8) ?? 10);
    const cells = 2 * Math.ceil((3 * extent) / cell);
    this.ground = new three.GridHelper(cells * cell, cells);
    this.ground.position.set(Math.round(centre.x / cell) * cell, height, Math.round(centre.z / cell) * cell);
    this.colourGround(dark);
    this.scene.add(this.ground);
    this.draw();
  }

  dispose(): void {
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  // What is under a point of the page.
  hit(x: number, y: number): three.Intersection[] {
    const box = this.canvas.getBoundingClientRect();
    const place = new three.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    const ray = new three.Raycaster();
    ray.setFromCamera(place, this.camera);
    ray.params.Points.threshold = 0.004 * this.camera.position.distanceTo(this.controls.target);
    return ray.intersectObjects(this.content.children, true);
  }

  // Pixels that a metre at unit distance covers: for points.
  pixelsPerMetre(): number {
    const height = this.renderer.getDrawingBufferSize(new three.Vector2()).y;
    return height / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
  }

  private colourGround(dark: boolean): void {
    const count = this.ground!.geometry.getAttribute("color").count;
    const colour = new three.Color(dark ? 0x2f353c : 0xd5d9dd);
    const colours = new Float32Array(3 * count);
    for (let i = 0; i < count; ++i) colour.toArray(colours, 3 * i);
    this.ground!.geometry.setAttribute("color", new three.BufferAttribute(colours, 3));
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.place;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.draw();
  }
}
